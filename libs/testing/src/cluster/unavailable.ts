/** No test cluster can be had on this machine. The message is one sentence that says what is missing and what to do. */
export class ClusterUnavailable extends Error {
  override readonly name = 'ClusterUnavailable';
}
