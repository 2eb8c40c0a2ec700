import type { MessageKey, Translate } from '../../messages/translate.ts';

/** An action (`noun.verb`) in words; one that this page does not know yet stays as it is. */
export function actionWords(t: Translate, action: string): string {
  const key =
    `auditActions.${action.replaceAll(/[-.]([a-z])/g, (_, letter: string) => letter.toUpperCase())}` as MessageKey;
  return t.has(key) ? t(key) : action;
}
