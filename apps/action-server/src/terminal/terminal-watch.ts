/** Receives the events of one of the agent's terminals, as it happens. Must be quick, and must not throw. */
export interface TerminalWatch {
  command(command: string): void;
  /** Into the program that runs; the name of a key for a key. */
  typed(input: string): void;
  /** As programs wrote it. Also of background jobs, between commands. */
  output(bytes: Buffer): void;
  /** Of the command, or of the shell that went with it. */
  ended(exitCode: number): void;
}
