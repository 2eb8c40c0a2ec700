'use client';
import type { PageEvent } from '@slipway/contracts/operate';
import { api, newId } from '../../api/client.ts';
import { useSession } from '../session/me.ts';
import { refusesTracking } from './refuses-tracking.ts';

/**
 * Reports what only the page knows to our own server, which keeps it only where everybody allows it. Nothing waits for
 * it and nothing fails with it; a browser that asks not to be tracked, and an installation that sends nothing, make no
 * request.
 */
export function useReport(): (event: PageEvent) => void {
  const { me, org } = useSession();
  return (event) => {
    if (me.analytics.host === null || refusesTracking()) return;
    void api.recordPageEvent({ body: { id: newId(), organization: org.id, event } }).catch(() => {});
  };
}
