"""What every protocol between parties shares: messages, roles, transcripts, journals and the network."""
