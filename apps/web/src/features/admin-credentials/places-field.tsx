'use client';
import { MAX_PLACES, type Place } from '@slipway/contracts/credentials';
import { Button, Checkbox, cn, Field, IconButton, Input, Select, Textarea } from '@slipway/ui';
import { Plus, X } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { newId } from '../../api/client.ts';
import { type MessageKey, type Option, translated } from '../../messages/translate.ts';
import { MethodsField } from '../form/methods-field.tsx';
import { AskFields } from './ask-fields.tsx';
import { newPlace, type PlaceValues } from './credential-values.ts';

const METHODS: readonly Option[] = [
  { value: 'all', label: 'adminCredentials.allMethods' },
  { value: 'read', label: 'adminCredentials.readMethods' },
  { value: 'chosen', label: 'adminCredentials.chosenMethods' },
];
const FOREIGN: Record<Place['foreign'], { readonly label: MessageKey; readonly means: MessageKey }> = {
  refuse: { label: 'adminCredentials.foreignRefuse', means: 'adminCredentials.foreignRefuseMeans' },
  drop: { label: 'adminCredentials.foreignDrop', means: 'adminCredentials.foreignDropMeans' },
  allow: { label: 'adminCredentials.foreignAllow', means: 'adminCredentials.foreignAllowMeans' },
};
const FOREIGN_OPTIONS: readonly Option[] = Object.entries(FOREIGN).map(([value, { label }]) => ({ value, label }));
/** Host and port, and where a place can go its button. */
const ALONE = 'grid-cols-[minmax(0,1fr)_5rem]';
const REMOVABLE = 'grid-cols-[minmax(0,1fr)_5rem_auto]';
const PLAIN = { autoComplete: 'off', spellCheck: false } as const;

/** Where a value may be sent, place by place. @param error what is wrong with a field, by its path in a place. */
export function PlacesField({
  places,
  error,
  onChange,
}: {
  places: readonly PlaceValues[];
  error: (path: string) => string | null;
  onChange: (places: readonly PlaceValues[]) => void;
}) {
  const t = useTranslations();
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="text-xs font-medium text-ink-muted">{t('adminCredentials.places')}</legend>
      <p className="text-xs text-ink-muted">{t('adminCredentials.placesHint')}</p>
      {places.map((place, index) => (
        <PlaceFields
          key={place.id}
          place={place}
          number={index + 1}
          error={(field) => error(`${index}.${field}`)}
          onChange={(change) => onChange(places.map((each) => (each.id === place.id ? { ...each, ...change } : each)))}
          onRemove={places.length === 1 ? null : () => onChange(places.filter(({ id }) => id !== place.id))}
        />
      ))}
      {places.length < MAX_PLACES ? (
        <Button size="small" className="self-start" onClick={() => onChange([...places, newPlace(newId())])}>
          <Plus aria-hidden />
          {t('adminCredentials.addAPlace')}
        </Button>
      ) : null}
    </fieldset>
  );
}

interface PlaceFieldsProps {
  readonly place: PlaceValues;
  readonly number: number;
  readonly error: (field: string) => string | null;
  readonly onChange: (change: Partial<PlaceValues>) => void;
  /** `null`: the only one stays. */
  readonly onRemove: (() => void) | null;
}

function PlaceFields({ place, number, error, onChange, onRemove }: PlaceFieldsProps) {
  const t = useTranslations();
  const { host, port, git, foreign, websocket } = place;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset within the fieldset would be read twice
    <div
      role="group"
      aria-label={t('adminCredentials.place', { number })}
      className="flex min-w-0 flex-col gap-3 rounded-md border border-line p-3"
    >
      <div className={cn('grid min-w-0 items-start gap-2', onRemove === null ? ALONE : REMOVABLE)}>
        <Field label={t('adminCredentials.host')} error={error('host')}>
          {(control) => (
            <Input
              {...control}
              {...PLAIN}
              value={host}
              placeholder={t('adminCredentials.apiExampleCom')}
              className="font-mono"
              onChange={(event) => onChange({ host: event.target.value })}
            />
          )}
        </Field>
        <Field label={t('adminCredentials.port')} error={error('port')}>
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              value={port}
              onChange={(event) => onChange({ port: event.target.value })}
            />
          )}
        </Field>
        {onRemove === null ? null : (
          <span className="pt-5">
            <IconButton label={t('adminCredentials.removePlace', { number })} onClick={onRemove}>
              <X aria-hidden />
            </IconButton>
          </span>
        )}
      </div>
      <Checkbox
        label={t('adminCredentials.gitOnly')}
        hint={t('adminCredentials.gitOnlyMeans')}
        checked={git}
        onChange={(next) => onChange({ git: next, ...(next ? { methods: 'all' } : {}) })}
      />
      {git && place.methods === 'all' ? null : (
        <MethodsField
          label={t('adminCredentials.methods')}
          error={error('methods')}
          options={METHODS}
          values={place}
          onChange={onChange}
        />
      )}
      <PathsAndBranches place={place} error={error} onChange={onChange} />
      {git ? null : (
        <Checkbox
          label={t('adminCredentials.websocket')}
          hint={t('adminCredentials.websocketMeans')}
          checked={websocket}
          onChange={(next) => onChange({ websocket: next })}
        />
      )}
      <Field label={t('adminCredentials.foreign')} hint={t(FOREIGN[foreign].means)} error={error('foreign')}>
        {(control) => (
          <Select
            {...control}
            value={foreign}
            options={translated(t, FOREIGN_OPTIONS)}
            onChange={(next) => onChange({ foreign: next as Place['foreign'] })}
          />
        )}
      </Field>
      <AskFields place={place} error={error} onChange={onChange} />
    </div>
  );
}

function PathsAndBranches({
  place: { git, paths, push },
  error,
  onChange,
}: Pick<PlaceFieldsProps, 'place' | 'error' | 'onChange'>) {
  const t = useTranslations();
  return (
    <>
      <Field
        label={t(git ? 'adminCredentials.repositories' : 'adminCredentials.paths')}
        hint={t('adminCredentials.pathsHint')}
        error={error('paths')}
      >
        {(control) => (
          <Textarea
            {...control}
            {...PLAIN}
            dir="ltr"
            rows={2}
            value={paths}
            placeholder={t(git ? 'adminCredentials.acme' : 'adminCredentials.v1')}
            className="font-mono"
            onChange={(event) => onChange({ paths: event.target.value })}
          />
        )}
      </Field>
      {git ? (
        <Field label={t('adminCredentials.branches')} hint={t('adminCredentials.branchesHint')} error={error('git')}>
          {(control) => (
            <Textarea
              {...control}
              {...PLAIN}
              dir="ltr"
              rows={2}
              value={push}
              placeholder={t('adminCredentials.refsHeadsSlipway')}
              className="font-mono"
              onChange={(event) => onChange({ push: event.target.value })}
            />
          )}
        </Field>
      ) : null}
    </>
  );
}
