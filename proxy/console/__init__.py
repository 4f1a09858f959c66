"""The console: pages of the admin listener for people, rendered by the server, whole without JavaScript."""
