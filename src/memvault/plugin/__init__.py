"""The skills, agents and commands that `memvault connect --hooks` installs in AI clients."""
