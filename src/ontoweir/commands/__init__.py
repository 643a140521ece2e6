"""The commands of `ontoweir`, one module each; what a command needs is imported when it runs."""
