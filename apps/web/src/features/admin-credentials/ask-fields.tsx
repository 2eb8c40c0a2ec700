'use client';
import type { Place } from '@slipway/contracts/credentials';
import { Field, Input, Select } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type MessageKey, type Option, translated } from '../../messages/translate.ts';
import type { PlaceValues } from './credential-values.ts';

type Ask = NonNullable<Place['ask']>;
const ASK: Record<Ask, { readonly label: MessageKey; readonly means: MessageKey }> = {
  never: { label: 'adminCredentials.askNever', means: 'adminCredentials.askNeverMeans' },
  'first-use': { label: 'adminCredentials.askFirstUse', means: 'adminCredentials.askFirstUseMeans' },
  'each-use': { label: 'adminCredentials.askEachUse', means: 'adminCredentials.askEachUseMeans' },
};
const OPTIONS: readonly Option[] = Object.entries(ASK).map(([value, { label }]) => ({ value, label }));

/** Whether a user is asked before a use of a place, and how often a conversation may use it. */
export function AskFields({
  place: { ask, uses, git },
  error,
  onChange,
}: {
  place: PlaceValues;
  error: (field: string) => string | null;
  onChange: (change: Partial<PlaceValues>) => void;
}) {
  const t = useTranslations();
  const means = [t(ASK[ask].means), ...(git && ask !== 'never' ? [t('adminCredentials.askOfGit')] : [])].join(' ');
  return (
    <>
      <Field label={t('adminCredentials.ask')} hint={means} error={error('ask')}>
        {(control) => (
          <Select
            {...control}
            value={ask}
            options={translated(t, OPTIONS)}
            onChange={(next) => onChange({ ask: next as Ask })}
          />
        )}
      </Field>
      <Field
        label={t('adminCredentials.usesPerConversation')}
        hint={t('adminCredentials.usesPerConversationHint')}
        error={error('usesPerConversation')}
      >
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            value={uses}
            onChange={(event) => onChange({ uses: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}
