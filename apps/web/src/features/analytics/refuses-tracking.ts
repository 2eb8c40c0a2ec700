/** Whether this browser asks sites not to track its user: Global Privacy Control, or Do Not Track. */
export function refusesTracking(): boolean {
  if (typeof navigator === 'undefined') return false;
  const { globalPrivacyControl, doNotTrack } = navigator as Navigator & { readonly globalPrivacyControl?: boolean };
  return globalPrivacyControl === true || doNotTrack === '1';
}
