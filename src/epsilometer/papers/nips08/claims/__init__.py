"""The claims of nips08, Chaudhuri and Monteleoni 2008, in a module for each section of the paper."""
