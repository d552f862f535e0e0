"""A client that lies: it cannot make the vault state its claims as verified, command another
client, or make a person's note disappear."""
