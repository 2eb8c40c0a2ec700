'use client';
import { Button, Field, Input, Select } from '@slipway/ui';
import { X } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { AUDIT_NOUNS, actionWords, nounWords } from './action-words.ts';
import { ActorField } from './actor-field.tsx';
import { isBackward } from './day-range.ts';

const ANY = '';

/** What the list is narrowed by: kind of action, who, days; and the one thing, when an entry led to it. */
export function Filters({
  values,
  names,
  onAction,
  onActor,
  onTarget,
  onFrom,
  onTo,
}: {
  values: Readonly<Record<'action' | 'actor' | 'target' | 'from' | 'to', string | null>>;
  names: Readonly<Record<string, string>>;
  onAction: (action: string | null) => void;
  onActor: (actor: string | null) => void;
  onTarget: (target: string | null) => void;
  onFrom: (day: string | null) => void;
  onTo: (day: string | null) => void;
}) {
  const t = useTranslations();
  const { action, actor, target, from, to } = values;
  const isVerb = action !== null && !(AUDIT_NOUNS as readonly string[]).includes(action);
  return (
    <fieldset aria-label={t('adminAudit.filters')} className="flex min-w-0 flex-col gap-2">
      <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
        <Field label={t('adminAudit.action')}>
          {(control) => (
            <Select
              {...control}
              value={action ?? ANY}
              options={[
                { value: ANY, label: t('adminAudit.anyAction') },
                ...(isVerb ? [{ value: action, label: actionWords(t, action) }] : []),
                ...AUDIT_NOUNS.map((noun) => ({ value: noun, label: nounWords(t, noun) })),
              ]}
              onChange={(value) => onAction(value === ANY ? null : value)}
            />
          )}
        </Field>
        <Field label={t('adminAudit.actor')}>
          {(control) => <ActorField control={control} actor={actor} names={names} onChange={onActor} />}
        </Field>
        <Field label={t('adminAudit.from')} error={isBackward(from, to) ? t('adminAudit.endsBeforeItBegins') : null}>
          {(control) => (
            <Input
              {...control}
              type="date"
              value={from ?? ''}
              onChange={(event) => onFrom(event.target.value || null)}
            />
          )}
        </Field>
        <Field label={t('adminAudit.to')}>
          {(control) => (
            <Input {...control} type="date" value={to ?? ''} onChange={(event) => onTo(event.target.value || null)} />
          )}
        </Field>
      </div>
      {target === null ? null : (
        <Button
          size="small"
          className="self-start"
          aria-label={t('adminAudit.showAllTargets')}
          onClick={() => onTarget(null)}
        >
          {t('adminAudit.onlyTarget', { target: names[target] ?? target })} <X aria-hidden />
        </Button>
      )}
    </fieldset>
  );
}
