/** Ids in their order after the one at `place` has gone `by` places; beyond an end it stays. */
export function moved(messages: ReadonlyArray<{ readonly id: string }>, place: number, by: -1 | 1): readonly string[] {
  const ids = messages.map(({ id }) => id);
  const [from, to] = [ids[place], ids[place + by]];
  if (from === undefined || to === undefined) return ids;
  return ids.with(place, to).with(place + by, from);
}
