/**
 * What requests have to end after SIGTERM: less than Kubernetes gives a pod, and more than any page takes.
 * Milliseconds.
 */
const LONGEST_MS = 25_000;
/** As of a process that SIGTERM has ended; Next exits with it too. */
const EXIT_CODE = 143;

/**
 * Next waits for every connection once it gets SIGTERM, also for one on which no request was ever sent: a browser opens
 * such ahead, and it would keep a replica until it is killed. @param longestMs after which the process ends anyway.
 */
export function endInTime(longestMs = LONGEST_MS): void {
  process.once('SIGTERM', () => setTimeout(() => process.exit(EXIT_CODE), longestMs).unref());
}
