import { Injectable } from '@nestjs/common';
import { SecretBox } from '@slipway/auth/secret-box';
import {
  CredentialQuestion,
  CredentialTallyBatch,
  CredentialUseQuestion,
  MAX_ROTATED_BYTES,
  MAX_USE_BYTES,
  ReflectedCredential,
  RenewalOutcome,
  RenewalQuestion,
  type RotatedAnswer,
  RotatedCredential,
} from '@slipway/contracts/credentials';
import { EgressBodyBatch, WorkspacePrintsQuestion } from '@slipway/contracts/sandboxes';
import { CredentialUsesService } from '../credential-uses/credential-uses.service.js';
import { OpenCredentialsService } from '../credentials/open-credentials.service.js';
import { RefreshTokensService } from '../credentials/refresh-tokens.service.js';
import { UseTalliesService } from '../credentials/use-tallies.service.js';
import { ControlPeer, route } from './control-peer.js';
import { EgressBodiesService } from './egress-bodies.service.js';
import type { EgressChanges } from './egress-changes.js';

/** Largest batch of counts, of the most rows with the longest names. Bytes. */
const MAX_BODIES_BYTES = 1024 * 1024;

/** What credential-broker asks. */
@Injectable()
export class BrokerControl {
  constructor(
    private readonly credentials: OpenCredentialsService,
    private readonly renewals: RefreshTokensService,
    private readonly bodies: EgressBodiesService,
    private readonly uses: CredentialUsesService,
    private readonly tallies: UseTalliesService,
  ) {}

  peer(secret: string, changes: EgressChanges): ControlPeer {
    const box = new SecretBox(secret);
    return new ControlPeer({
      prefix: '/internal/credentials/v1/',
      secret,
      purpose: 'slipway-credentials',
      changes,
      routes: {
        // Values are in clear on no wire: the answer is sealed for its question.
        open: route(CredentialQuestion, 'text/plain', async (question, signed) =>
          box.encrypt(JSON.stringify(await this.credentials.open(question)), `opened:${signed}`).toString('base64'),
        ),
        use: route(
          CredentialUseQuestion,
          'application/json',
          async (question) => JSON.stringify(await this.uses.decide(question)),
          { maxBytes: MAX_USE_BYTES },
        ),
        tallies: route(
          CredentialTallyBatch,
          'application/json',
          async (batch) => {
            await this.tallies.count(batch);
            return '{}';
          },
          { maxBytes: MAX_BODIES_BYTES },
        ),
        reflected: route(ReflectedCredential, 'application/json', async (reflected) => {
          await this.credentials.rest(reflected);
          return '{}';
        }),
        prints: route(WorkspacePrintsQuestion, 'application/json', async (question) =>
          JSON.stringify(await this.bodies.prints(question)),
        ),
        bodies: route(
          EgressBodyBatch,
          'application/json',
          async (batch) => {
            await this.bodies.count(batch);
            return '{}';
          },
          { maxBytes: MAX_BODIES_BYTES },
        ),
        renew: route(RenewalQuestion, 'text/plain', async (question, signed) =>
          box.encrypt(JSON.stringify(await this.renewals.renew(question)), `renewal:${signed}`).toString('base64'),
        ),
        rotated: route(
          RotatedCredential,
          'application/json',
          async ({ sealed, ...rotated }) => {
            const text = box.decrypt(Buffer.from(sealed, 'base64'), `rotated:${rotated.lease}`);
            const kept = await this.renewals.rotated(rotated, RenewalOutcome.parse(JSON.parse(text)));
            return JSON.stringify({ kept } satisfies RotatedAnswer);
          },
          { maxBytes: MAX_ROTATED_BYTES + 4096 },
        ),
      },
    });
  }
}
