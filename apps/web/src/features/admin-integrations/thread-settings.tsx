'use client';
import type { IntegrationProvider, ThreadProcessors } from '@slipway/contracts/integrations';
import { Button, Checkbox, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import type { MessageKey } from '../../messages/translate.ts';
import type { PlaceValues } from './connection-values.ts';

type Processor = keyof ThreadProcessors;

const PLACES = {
  channel: { name: 'adminIntegrations.channel', hint: 'adminIntegrations.theChannelIdShownAt', example: 'C0123ABCD' },
  project: { name: 'adminIntegrations.project', hint: 'adminIntegrations.theProjectKeyWhichBegins', example: 'SHOP' },
  team: { name: 'adminIntegrations.team', hint: 'adminIntegrations.theTeamKeyWhichBegins', example: 'ENG' },
} as const;

const PROCESSORS: Readonly<Record<Processor, { readonly label: MessageKey; readonly hint: MessageKey }>> = {
  reaction: { label: 'adminIntegrations.reactToRequests', hint: 'adminIntegrations.addsAnEyesReactionTo' },
  comment: { label: 'adminIntegrations.showProgress', hint: 'adminIntegrations.oneCommentOrMessageEdited' },
  link: { label: 'adminIntegrations.linkConversationAndPullRequests', hint: 'adminIntegrations.addedAsLinksOfThe' },
  start: { label: 'adminIntegrations.moveTicketsWhenWorkBegins', hint: 'adminIntegrations.toTheFirstInProgress' },
  done: { label: 'adminIntegrations.moveTicketsWhenTheirPull', hint: 'adminIntegrations.toTheFirstDoneState' },
};

/** Repositories of single places. */
export function PlaceRepositories({
  kind,
  values,
  error,
  onChange,
}: {
  kind: NonNullable<IntegrationProvider['places']>;
  values: readonly PlaceValues[];
  error: string | null;
  onChange: (values: readonly PlaceValues[]) => void;
}) {
  const t = useTranslations();
  const { name, hint, example } = PLACES[kind];
  const text = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;
  const change = (key: number, part: Partial<PlaceValues>) =>
    onChange(values.map((each) => (each.key === key ? { ...each, ...part } : each)));
  const add = () =>
    onChange([...values, { key: Math.max(-1, ...values.map((each) => each.key)) + 1, place: '', repository: '' }]);
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-sm font-medium">{t('adminIntegrations.repositoriesOf', { kind })}</legend>
      <p className="text-sm text-ink-muted">
        {t('adminIntegrations.takesPrecedenceOverTheDefault', { hint: t(hint) })}
      </p>
      {values.map((each, index) => (
        <div key={each.key} className="grid grid-cols-1 gap-2 sm:grid-cols-[10rem_minmax(0,1fr)_auto]">
          <Input
            {...text}
            aria-label={`${t(name)} ${index + 1}`}
            placeholder={example}
            value={each.place}
            onChange={(event) => change(each.key, { place: event.target.value })}
          />
          <Input
            {...text}
            inputMode="url"
            aria-label={t('adminIntegrations.repository', { index: index + 1 })}
            placeholder={t('adminIntegrations.httpsGitExampleComOwner')}
            value={each.repository}
            onChange={(event) => change(each.key, { repository: event.target.value })}
          />
          <Button
            aria-label={t('adminIntegrations.remove2', { kind, index: index + 1 })}
            onClick={() => onChange(values.filter((other) => other.key !== each.key))}
          >
            {t('adminIntegrations.remove')}
          </Button>
        </div>
      ))}
      {error === null ? null : (
        <p role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
      <Button className="self-start" onClick={add}>
        {t('adminIntegrations.addA', { kind })}
      </Button>
    </fieldset>
  );
}

/** What Slipway does in threads and with their tickets. */
export function ProcessorChoices({
  offered,
  values,
  onChange,
}: {
  offered: IntegrationProvider['processors'];
  values: ThreadProcessors;
  onChange: (values: ThreadProcessors) => void;
}) {
  const t = useTranslations();
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="pb-1 text-sm font-medium">{t('adminIntegrations.inThreads')}</legend>
      {offered.map((each) => (
        <Checkbox
          key={each}
          label={t(PROCESSORS[each].label)}
          hint={t(PROCESSORS[each].hint)}
          checked={each === 'done' ? values.done === 'merged' : values[each]}
          onChange={(on) =>
            onChange(each === 'done' ? { ...values, done: on ? 'merged' : 'never' } : { ...values, [each]: on })
          }
        />
      ))}
    </fieldset>
  );
}
