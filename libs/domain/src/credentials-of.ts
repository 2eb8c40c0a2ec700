import { CREDENTIAL_SCOPES, type CredentialScope } from '@slipway/contracts/credentials';

/** For which conversations an organization keeps a brokered credential. */
export interface CredentialScoped {
  readonly id: string;
  readonly name: string;
  readonly scope: CredentialScope;
  /** Environment, or repository as `repositoryKey` writes it; empty for `org`. */
  readonly scopeValue: string;
}

export interface CredentialReceiver {
  readonly environment: string | null;
  /** As `repositoryKey` writes it. */
  readonly repository: string | null;
}

/** Those that a conversation may use: the narrowest scope first, and of one scope by name. */
export function credentialsOf<T extends CredentialScoped>(
  all: readonly T[],
  { environment, repository }: CredentialReceiver,
): T[] {
  const values: Readonly<Record<CredentialScope, string | null>> = { org: '', environment, repository };
  const width = ({ scope }: T): number => CREDENTIAL_SCOPES.indexOf(scope);
  return all
    .filter(({ scope, scopeValue }) => values[scope] === scopeValue)
    .sort((one, other) => width(other) - width(one) || byText(one.name, other.name) || byText(one.id, other.id));
}

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
