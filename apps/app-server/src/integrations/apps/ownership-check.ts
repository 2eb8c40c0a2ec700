import { SlipwayError } from '@slipway/errors';
import type { Connect, Installation } from '@slipway/integrations';
import type { OpenedApp } from '@slipway/integrations/apps';

/** The code that came with the browser; with what it was asked for by where Slipway began the sign-in itself. */
export interface OwnershipCode {
  readonly code: string;
  readonly redirectUri?: string;
  readonly verifier?: string;
}

/**
 * Asks the provider, as the user, whether an installation is theirs to give. The user's token is ended again, whatever
 * it says.
 */
export class OwnershipCheck {
  constructor(private readonly connect: Connect) {}

  /**
   * @param claimed what the browser says of the installation; `null`: the one that the user has.
   * @throws SlipwayError `integration.not-installed` for one that the user's token does not show,
   * `integration.not-administered`; ProviderRefusal.
   */
  async prove({ app, access, baseUrl }: OpenedApp, sent: OwnershipCode, claimed: string | null): Promise<Installation> {
    const { proof } = access;
    const token = await proof.redeem({ baseUrl, app, ...sent }, this.connect);
    try {
      const user = this.connect(access.apiUrl(baseUrl), `Bearer ${token}`);
      const shown = (await proof.installations(user, app.id)).filter(({ id }) => claimed === null || id === claimed);
      if (shown.length === 0)
        throw new SlipwayError('integration.not-installed', 'The provider shows you no such installation of the app.');
      for (const installation of shown) if (await proof.administers(user, installation.account)) return installation;
      const logins = shown.map(({ account }) => account.login).join(', ');
      throw new SlipwayError('integration.not-administered', `The provider does not call you an owner of ${logins}.`);
    } finally {
      // It ends by itself within hours; what was asked is answered all the same.
      await proof.revoke({ baseUrl, app, token }, this.connect).catch(() => {});
    }
  }
}
