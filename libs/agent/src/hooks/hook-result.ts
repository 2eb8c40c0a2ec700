/** How a hook ended. `error`: it did not run to its end. */
export interface HookResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly error: string | null;
}
