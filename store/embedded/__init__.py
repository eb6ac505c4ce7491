"""The server that comes as a wheel: started by the first process, stopped with the last."""
