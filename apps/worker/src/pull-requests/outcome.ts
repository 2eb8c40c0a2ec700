import { ERRORS } from '@slipway/contracts/errors';
import { SlipwayError } from '@slipway/errors';
import { ProviderRefusal } from '@slipway/integrations';
import { isRefusedAddress } from '@slipway/outside/agent';

/** To be tried again, not before `at` [soon]. */
export class Later extends Error {
  override readonly name = 'Later';
  constructor(
    message: string,
    readonly at: Date | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const MAX_DETAIL = 600;

/**
 * What a failure means for a pull request: a problem that needs an action, or a wait.
 * @throws what is neither: a fault of ours, of the database, or the end of this process.
 */
export function outcomeOf(error: unknown, host: string): SlipwayError | Later {
  if (error instanceof Later) return error;
  if (isRefusedAddress(error))
    return new SlipwayError(
      'settings.url-refused',
      `${host} is not at a public address, and the operator has not named it (INTEGRATION_PRIVATE_HOSTS).`,
      {
        cause: error,
      },
    );
  if (error instanceof ProviderRefusal) return refusalOutcome(error, host);
  if (!(error instanceof SlipwayError)) throw error;
  return ERRORS[error.code].retry === 'later' ? new Later(error.detail, null, { cause: error }) : error;
}

function refusalOutcome(error: ProviderRefusal, host: string): SlipwayError | Later {
  switch (error.kind) {
    case 'limited':
      return new Later(`${host} limits our calls.`, error.retryAt, { cause: error });
    case 'unavailable':
      return new Later(`${host} does not answer${error.status === null ? '' : ` (${error.status})`}.`, error.retryAt, {
        cause: error,
      });
    case 'credential':
      return new SlipwayError('pull-request.no-connection', `${host} refuses the access token of the connection.`, {
        cause: error,
      });
    case 'forbidden':
      return new SlipwayError(
        'pull-request.host-refused',
        `${host} does not let the access token of the connection do this. ${wordsOf(error)}`.trim(),
        {
          cause: error,
        },
      );
    case 'missing':
      return new SlipwayError(
        'pull-request.host-refused',
        `${host} knows no such repository, or the access token does not reach it.`,
        { cause: error },
      );
    default:
      return new SlipwayError('pull-request.host-refused', wordsOf(error) || `${host} gave no reason.`, {
        cause: error,
      });
  }
}

/** What the host said to people, without the call. */
function wordsOf({ message }: ProviderRefusal): string {
  const said = message.replace(/^[A-Z]+ \S+: (?:\d{3} )?/, '');
  // GitLab has a list of them, or one below the field that it is about.
  const [, json] =
    /"(?:message|error)"\s*:\s*(?:\{\s*"[\w.]{1,60}"\s*:\s*)?(?:\[\s*)?"((?:[^"\\]|\\.)*)"/.exec(said) ?? [];
  return (json ?? said)
    .replaceAll(/\p{C}+/gu, ' ')
    .slice(0, MAX_DETAIL)
    .toWellFormed()
    .trim();
}
