/** Leaves this page for one that the server has named; nothing but http is followed. */
export function goTo(url: string): void {
  if (/^https?:\/\//.test(url)) window.location.assign(url);
}
