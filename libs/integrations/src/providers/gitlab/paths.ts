import { z } from 'zod';
import { noRepository } from '../../calls/provider-refusal.js';
import type { Thread } from '../../intent.js';
import type { ThreadSubject } from '../../provider.js';

export const part = (value: string): string => encodeURIComponent(value);

/** GitLab allows twenty groups in one another. */
const MAX_PARTS = 22;

/**
 * The path of a project. @throws ProviderRefusal `missing` for what is none: a name with `..` would be another path.
 */
export function project(fullName: string): string {
  const parts = fullName.split('/');
  const odd = parts.some((each) => !/^[\w.-]{1,200}$/.test(each) || /^\.+$/.test(each));
  if (odd || parts.length < 2 || parts.length > MAX_PARTS) throw noRepository();
  return `/projects/${part(fullName)}`;
}

const Place = z.object({
  project: z.string(),
  iid: z.number().int().positive(),
  on: z.enum(['issues', 'merge_requests']),
  internal: z.literal(1).optional(),
});

/** @throws ZodError for a place that another provider has made. */
export function pathOf(place: Thread['place']): { on: string; internal: boolean } {
  const { project: id, iid, on, internal } = Place.parse(place);
  return { on: `/projects/${part(id)}/${on}/${iid}`, internal: internal === 1 };
}

/** Issues and merge requests are numbered apart, so the place says which it is. */
export function gitlabSubject(place: Thread['place']): ThreadSubject | null {
  const read = Place.safeParse(place);
  return read.success ? { number: read.data.iid, kind: read.data.on === 'issues' ? 'issue' : 'pull-request' } : null;
}

/** Of a merge request, as `threadOf` makes it from a delivery. */
export function mergeRequestThread(projectId: string, iid: number): Pick<Thread, 'key' | 'place'> {
  return { key: `${projectId}!${iid}`, place: { project: projectId, iid, on: 'merge_requests' } };
}
