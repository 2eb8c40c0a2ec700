'use client';
import type { AnswerEgressRequest } from '@slipway/contracts/sandboxes';
import { Button } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useSession } from '../session/me.ts';

/** As wide as the others, whatever it says; 48 pixels high for a finger. */
const ANSWER = 'w-full min-w-0 touch:h-12';

const COLUMNS: Readonly<Record<number, string>> = { 2: 'grid-cols-2', 3: 'grid-cols-3', 4: 'grid-cols-4' };

/** The answers to some requests of one command. Whoever may change rules may allow hosts for the organization, too. */
export function EgressChoices({
  host,
  sending,
  mayAllow,
  mayRefuse = true,
  mayOnce = true,
  mayConversation = true,
  mayOrganization = true,
  cameBack,
  onAllow,
  onRefuse,
}: {
  host: string;
  sending: AnswerEgressRequest['scope'] | null;
  mayAllow: boolean;
  mayRefuse?: boolean;
  /** A yes that is limited to some requests is for longer. */
  mayOnce?: boolean;
  /** A place that asks for each use takes no yes for longer. */
  mayConversation?: boolean;
  mayOrganization?: boolean;
  /** From the form of a refusal, whose focus the button takes over. */
  cameBack: boolean;
  onAllow: (scope: AnswerEgressRequest['scope']) => void;
  onRefuse: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const wide = mayOrganization && org.permissions.includes('egress:write');
  const columns = [2, 3, 4][Number(mayConversation) + Number(wide)] ?? 4;
  const allow = (scope: AnswerEgressRequest['scope']) => ({
    busy: sending === scope,
    disabled: !mayAllow || (scope === 'once' && !mayOnce) || (sending !== null && sending !== scope),
    onClick: () => onAllow(scope),
    className: ANSWER,
  });
  return (
    <fieldset className={`grid min-w-0 gap-2 max-sm:grid-cols-2 max-sm:gap-x-4 ${COLUMNS[columns]}`}>
      <legend className="sr-only">{t('egress.answerFor', { host })}</legend>
      <Button tone="primary" {...allow('once')}>
        {t('egress.allowOnce')}
      </Button>
      {mayConversation ? <Button {...allow('conversation')}>{t('egress.thisConversation')}</Button> : null}
      {wide ? <Button {...allow('organization')}>{t('egress.organization')}</Button> : null}
      <Button
        tone="danger"
        disabled={sending !== null || !mayRefuse}
        onClick={onRefuse}
        className={ANSWER}
        // The focus was on Back, which is gone.
        autoFocus={cameBack}
      >
        {t('egress.refuse')}
      </Button>
    </fieldset>
  );
}
