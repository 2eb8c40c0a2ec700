import type { LlmSettings, StartConversationRequest } from '@slipway/contracts/agent';

/**
 * The app's model credentials, for clients that work in a sandbox of the app's without a key of their own: a start
 * without a key gets the newest, at its own address only. It is never returned; a caller that may start a conversation
 * here may have the agent of the app's work, too. In memory alone.
 */
export class AppModelCredentials {
  private newest: LlmSettings | undefined;

  /** The model of the app's own conversation here; `undefined` in a sandbox that no app has started one in. */
  get model(): Pick<LlmSettings, 'model' | 'base_url'> | undefined {
    return this.newest;
  }

  remember({ slipway, agent }: StartConversationRequest): void {
    if (slipway !== undefined && agent.llm.api_key != null) this.newest = agent.llm;
  }

  /**
   * The start as it was asked for; with the app's key where it names none, and an address only where it is the app's or
   * none is named.
   */
  withCredentials(request: StartConversationRequest): StartConversationRequest {
    const { llm, condenser } = request.agent;
    if (request.slipway !== undefined) return request;
    const own = condenser?.llm == null ? {} : { condenser: { ...condenser, llm: this.withCredential(condenser.llm) } };
    return { ...request, agent: { ...request.agent, llm: this.withCredential(llm), ...own } };
  }

  private withCredential(llm: LlmSettings): LlmSettings {
    const { newest } = this;
    if (
      newest === undefined ||
      (llm.api_key ?? '') !== '' ||
      (llm.base_url != null && llm.base_url !== newest.base_url)
    )
      return llm;
    return { ...llm, base_url: newest.base_url, api_key: newest.api_key };
  }
}
