import { PROFILE_PREFIX } from '@slipway/contracts/models';
import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';

/**
 * The model of a conversation for which none is named, as app-server chooses it: what the organization's settings say,
 * its default profile, the gateway's default, any.
 * @throws SlipwayError `model.unknown`, `service.unavailable` when the gateway gives no list.
 */
export async function chooseModel(
  { pool, gateway }: { readonly pool: SqlPool; readonly gateway: LlmGatewayClient },
  orgId: string,
  usual: string | null,
  signal: AbortSignal,
): Promise<string> {
  const { rows: profiles } = await inOrg(pool, orgId, (client) =>
    client.query<Columns<'app.llm_profile', 'name' | 'is_default'>>(
      'SELECT name, is_default FROM app.llm_profile WHERE org_id = $1 ORDER BY name',
      [orgId],
    ),
  );
  const own = profiles.map(({ name, is_default }) => ({
    id: `${PROFILE_PREFIX}${name}`,
    default: is_default,
    profile: true,
  }));
  const hasDefault = own.some((profile) => profile.default);
  const offered = (await gateway.models(signal)).map(({ id, default: isDefault }) => ({
    id,
    default: isDefault === true && !hasDefault,
    profile: false,
  }));
  const all = [...own, ...offered];
  const model =
    all.find(({ id }) => id === usual) ?? all.find((each) => each.default) ?? all.find((each) => !each.profile);
  if (model === undefined) throw new SlipwayError('model.unknown', 'The gateway offers no model.');
  return model.id;
}
