"""Programs that run inside the environments of the libraries; nothing here imports this project."""
