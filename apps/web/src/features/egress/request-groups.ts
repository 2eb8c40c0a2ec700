import type { EgressRequest } from '@slipway/contracts/sandboxes';

/** Requests that are answered together: those of one command. The others stand alone. */
export interface RequestGroup {
  readonly key: string;
  /** In the order in which they were given; at least one. */
  readonly requests: readonly [EgressRequest, ...EgressRequest[]];
}

/** Each group in the place of its first request. What no command asked for stands alone. */
export function groupsOf(waiting: readonly EgressRequest[]): readonly RequestGroup[] {
  return groupedBy(waiting, ({ id, actionId }) => (actionId === null ? `request ${id}` : `action ${actionId}`));
}

/** Requests of one command that were answered alike, for one line; in the order in which they were asked. */
export function answeredAlike(settled: readonly EgressRequest[]): readonly RequestGroup[] {
  const inOrder = settled.toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt));
  return groupedBy(inOrder, ({ id, actionId, state, scope, decidedBy, reason }) =>
    actionId === null ? id : JSON.stringify([actionId, state, scope, decidedBy, reason]),
  );
}

function groupedBy(
  requests: readonly EgressRequest[],
  keyOf: (request: EgressRequest) => string,
): readonly RequestGroup[] {
  const groups = new Map<string, [EgressRequest, ...EgressRequest[]]>();
  for (const request of requests) {
    const group = groups.get(keyOf(request));
    if (group === undefined) groups.set(keyOf(request), [request]);
    else group.push(request);
  }
  return [...groups].map(([key, grouped]) => ({ key, requests: grouped }));
}
