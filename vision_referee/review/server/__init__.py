"""The browser app: pages over match folders, in which a person has the last word."""
