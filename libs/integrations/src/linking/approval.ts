import { z } from 'zod';
import type { Place } from '../calls/code-host.js';
import type { ProviderClient } from '../calls/provider-client.js';
import { repo } from '../calls/repository-path.js';

/** How a user approves a pull request at a git host, by a consent that is used for this one deed. */
export interface Approval {
  /** What the consent is asked for; the smallest by which the host lets a review be written. */
  readonly scopes: readonly string[];
  /** At this commit: what came later is not approved. @param api with the user's own token. @throws ProviderRefusal */
  readonly approve: (api: ProviderClient, at: Place, sha: string) => Promise<void>;
}

/** As GitHub and Gitea have it, which differ in the word. */
export function reviewApproval(scopes: readonly string[], event: 'APPROVE' | 'APPROVED'): Approval {
  return {
    scopes,
    approve: async (api, { repository, number }, sha) => {
      const path = `${repo(repository)}/pulls/${number}/reviews`;
      await api.call({ method: 'POST', path, body: { event, commit_id: sha }, answer: z.unknown() });
    },
  };
}
