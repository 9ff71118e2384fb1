"""What measures kopt itself: whom it believes, how precise it is, what it costs."""
