import type { Dispatch } from '../calls/provider-client.js';
import { ProviderRefusal } from '../calls/provider-refusal.js';
import type { Credential } from './credential.js';

/**
 * Sends a call that is refused with 401 once more where the connection has another credential by then: a renewal ends
 * the token that calls under way were made with. Nothing has happened at the provider before it says 401.
 * @param other asks for a credential in place of the refused one; answers the same where there is none.
 */
export function freshDispatch(
  dispatch: Dispatch,
  authorization: (token: string) => string,
  credential: Pick<Credential, 'id'>,
  other: () => Promise<Pick<Credential, 'id' | 'token'> | null>,
): Dispatch {
  return async (url, request) => {
    const response = await dispatch(url, request);
    if (response.status !== 401) return response;
    const now = await other().catch((error: unknown) => {
      // There is none any more: the refusal stands.
      if (error instanceof ProviderRefusal && error.kind === 'credential') return null;
      throw error;
    });
    if (now === null || now.id === credential.id) return response;
    await response.body?.cancel().catch(() => {});
    return dispatch(url, { ...request, headers: { ...request.headers, authorization: authorization(now.token) } });
  };
}
