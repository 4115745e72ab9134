"""What published margins tell about the cells inside."""
