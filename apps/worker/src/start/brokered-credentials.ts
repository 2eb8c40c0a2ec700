import { credentialReference } from '@slipway/auth/credential-reference';
import type { CredentialUse } from '@slipway/contracts/credentials';
import type { CredentialScoped } from '@slipway/domain';

/** A credential of the conversation without its value, which the worker never reads. */
export interface BrokeredCredential extends CredentialScoped {
  readonly description: string;
  readonly use: CredentialUse;
  readonly referenceKey: Buffer;
}

/** For programs that sign with a key before they send anything. credential-broker signs anew, with the real one. */
const DUMMY_AWS_KEY = 'slipway-signs-this-request-outside';

/**
 * What the sandbox has in place of values: references of the form `placeholder`, and for `aws-sigv4` the key's id with
 * a dummy. None of it is secret. Of two for one variable the narrower.
 * @param credentials of the conversation, the narrowest first.
 */
export function brokeredVariables(
  credentials: readonly BrokeredCredential[],
  conversation: string,
): Map<string, { readonly value: string; readonly description: string }> {
  const variables = new Map<string, { value: string; description: string }>();
  const add = (name: string, value: string, description: string): void => {
    if (!variables.has(name)) variables.set(name, { value, description });
  };
  for (const { name, use, referenceKey, description } of credentials)
    if (use.form === 'placeholder')
      add(name, credentialReference({ name, shape: use.shape, key: referenceKey, conversation }), description);
  const aws = credentials.find(({ use }) => use.form === 'aws-sigv4');
  if (aws?.use.form === 'aws-sigv4') {
    add('AWS_ACCESS_KEY_ID', aws.use.accessKeyId, aws.description);
    add('AWS_SECRET_ACCESS_KEY', DUMMY_AWS_KEY, 'Requests are signed outside of the sandbox');
    // Else an SDK may look for a key at an address that no sandbox reaches, and waits.
    add('AWS_EC2_METADATA_DISABLED', 'true', '');
  }
  return variables;
}

/** Hosts that an agent is shown; it finds out about others by using them. */
const MAX_SHOWN = 50;

/** For the agent: the hosts at which it needs no credential of its own, with what admins say of them. */
export function brokeredPlaces(credentials: readonly BrokeredCredential[]): string[] {
  const places = credentials.flatMap(({ use, name, description }) =>
    use.places.map(({ host, port }) => {
      const at = port === 443 ? host : `${host}:${port}`;
      return `- ${at}: ${name}${description === '' ? '' : `, ${description}`}`;
    }),
  );
  return [...new Set(places)].slice(0, MAX_SHOWN);
}
