/** Pinned ones, then the others, each once. Newer data of a pinned one is that of the list, where it has it. */
export function pinnedFirst<Row extends { readonly id: string }>(
  pinned: readonly Row[],
  rows: readonly Row[],
): readonly Row[] {
  if (pinned.length === 0) return rows;
  const ids = new Set(pinned.map(({ id }) => id));
  const newer = new Map(rows.map((row) => [row.id, row]));
  return [...pinned.map((row) => newer.get(row.id) ?? row), ...rows.filter(({ id }) => !ids.has(id))];
}
