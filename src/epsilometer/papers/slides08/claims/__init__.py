"""The claims of slides08, Monteleoni's slides on nips08, in a module for each part of the slides."""
