/**
 * One cycle for each group of files that import each other (Tarjan's strongly connected components), shortest first
 * found.
 */
export function findCycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const cycles: string[][] = [];

  const visit = (file: string): void => {
    index.set(file, index.size);
    low.set(file, index.get(file) as number);
    stack.push(file);
    onStack.add(file);
    for (const next of edges.get(file) ?? []) {
      if (!index.has(next)) {
        visit(next);
        low.set(file, Math.min(low.get(file) as number, low.get(next) as number));
      } else if (onStack.has(next)) low.set(file, Math.min(low.get(file) as number, index.get(next) as number));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    for (const member of group) onStack.delete(member);
    if (group.length > 1 || edges.get(file)?.includes(file)) cycles.push(cycleIn(group, edges));
  };
  for (const file of edges.keys()) if (!index.has(file)) visit(file);
  return cycles;
}

/** A shortest way from the group's first file back to itself. */
function cycleIn(group: readonly string[], edges: ReadonlyMap<string, readonly string[]>): string[] {
  const members = new Set(group);
  const [start = ''] = [...group].sort();
  const ways: string[][] = [[start]];
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    for (const next of edges.get(way.at(-1) as string) ?? []) {
      if (next === start) return way;
      if (!members.has(next) || seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return [...group];
}
