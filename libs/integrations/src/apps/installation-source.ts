import { ProviderRefusal } from '../calls/provider-refusal.js';
import type { CredentialSource } from '../credentials/credential.js';
import { type InstalledApps, isProved } from './installed-apps.js';
import { INSTALLATION_SECRET } from './stored-apps.queries.js';

/** Stored as the credential: which installation was verified. The app is asked for its rights each time. */
export const sealedInstallation = (installationId: string): string => JSON.stringify({ installationId });

/**
 * Tokens of installations, each for one repository and what is to be done there. Without a repository it reads their
 * names and nothing else.
 */
export function installationSource(apps: InstalledApps): CredentialSource {
  return {
    kind: INSTALLATION_SECRET,
    credential: async (orgId, connection, { id, value }, { repository = null, step, refused }) => {
      const opened = await apps.open(orgId, connection.id);
      const { installationId } = JSON.parse(value) as { installationId: string };
      if (
        opened === null ||
        !isProved(opened.stored) ||
        opened.stored.state !== 'installed' ||
        opened.stored.installationId !== installationId
      ) {
        const details = { kind: 'credential', status: null, retryAt: null, outcomeUnknown: false } as const;
        throw new ProviderRefusal('the app of the connection is not installed, or suspended', details);
      }
      const asked = apps.asked(opened, {
        installationId,
        repository,
        step: repository === null ? 'list' : (step ?? 'read'),
      });
      if (refused !== undefined) apps.tokens.drop(asked);
      const { token, expiresAt } = await apps.tokens.get(asked);
      return { token, id, expiresAt, baseUrl: null };
    },
  };
}
