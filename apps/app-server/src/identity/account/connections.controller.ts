import { Controller, Inject, Param } from '@nestjs/common';
import { ProviderTokens, type SignedIn } from '@slipway/auth';
import { type ConnectionList } from '@slipway/contracts/identity';
import { operations } from '@slipway/contracts/operations';
import { notFound } from '@slipway/errors';
import { User } from '../../http/params.js';
import { Serves } from '../../http/serves.js';
import { AccountService } from './account.service.js';

/** Accounts of other providers by which the user has signed in. */
@Controller()
export class ConnectionsController {
  constructor(
    @Inject(ProviderTokens) private readonly providers: ProviderTokens,
    private readonly account: AccountService,
  ) {}

  @Serves(operations.listMyConnections)
  async list(@User() user: SignedIn): Promise<ConnectionList> {
    const connected = await this.providers.list(user.userId);
    return {
      data: connected.map(({ provider, scopes, connectedAt, refreshedAt, expiresAt }) => ({
        provider,
        scopes,
        connectedAt: connectedAt.toISOString(),
        refreshedAt: refreshedAt.toISOString(),
        expiresAt: expiresAt?.toISOString() ?? null,
      })),
    };
  }

  /** The next sign-in by that provider brings it again; who does not want that unlinks it with the sign-in service. */
  @Serves(operations.deleteMyConnection)
  async forget(@User() user: SignedIn, @Param('provider') provider: string): Promise<void> {
    if (!(await this.account.forgetProvider(user, provider))) throw notFound();
  }
}
