"""The claims of review, Li's survey, in a module for each of its sections."""
