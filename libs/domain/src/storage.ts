const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** With at most one decimal, in the largest unit of which there is at least one. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1_024 && unit < UNITS.length - 1) [value, unit] = [value / 1_024, unit + 1];
  return `${value < 10 && unit > 0 ? Math.round(value * 10) / 10 : Math.round(value)} ${UNITS[unit]}`;
}

/**
 * What a user reads whose work a full storage stops. Whoever starts something and whoever is in the middle of it read
 * the same sentence. Bytes.
 */
export function storageReason({ used, limit }: { readonly used: number; readonly limit: number }): string {
  return `The organization uses ${bytesText(used)} of its ${bytesText(limit)} of storage.`;
}
