import type { MessageKey, Translate } from '../../messages/translate.ts';

/** What actions are done to, as a filter offers it; an action (`noun.verb`) begins with one. */
export const AUDIT_NOUNS = [
  'conversation',
  'checkpoint',
  'sandbox',
  'pull-request',
  'session',
  'member',
  'invitation',
  'person',
  'linked-account',
  'device',
  'api-key',
  'service-account',
  'secret',
  'credential',
  'credential-use',
  'model-deployment',
  'llm-profile',
  'mcp-server',
  'integration',
  'connection',
  'webhook',
  'budget',
  'storage',
  'setting',
  'prompt',
  'prompt-log',
  'egress-request',
  'egress-rule',
  'domain',
  'security',
  'audit',
  'terms',
  'org',
] as const;

/** An action (`noun.verb`) in words; one that this page does not know yet stays as it is. */
export function actionWords(t: Translate, action: string): string {
  const key = `auditActions.${camel(action)}` as MessageKey;
  return t.has(key) ? t(key) : action;
}

/** A noun in words, for what is done to all of its kind. */
export function nounWords(t: Translate, noun: string): string {
  const key = `auditNouns.${camel(noun)}` as MessageKey;
  return t.has(key) ? t(key) : noun;
}

function camel(name: string): string {
  return name.replaceAll(/[-.]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
