'use client';
import { Field, Input, Select } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type MessageKey, type Option, translated } from '../../messages/translate.ts';
import type { Form } from './use-form.ts';

/** What a scope is of, as its second field asks for it; a scope that is not named has none. */
export type ScopeValues = Readonly<Record<string, { readonly label: MessageKey; readonly placeholder: MessageKey }>>;

/** Whom something is for: a kind, and the one of that kind. */
export function ScopeFields<V extends { scope: string; scopeValue: string }>({
  form,
  label,
  scopes,
  places,
}: {
  form: Form<V>;
  label: string;
  scopes: readonly Option[];
  places: ScopeValues;
}) {
  const t = useTranslations();
  const { scope, scopeValue } = form.values;
  const place = places[scope];
  return (
    <>
      <Field label={label} error={form.error('scope')}>
        {(control) => (
          <Select
            {...control}
            value={scope}
            options={translated(t, scopes)}
            onChange={(next) => form.set('scope', next as V['scope'])}
          />
        )}
      </Field>
      {place === undefined ? null : (
        <Field label={t(place.label)} error={form.error('scopeValue')}>
          {(control) => (
            <Input
              {...control}
              value={scopeValue}
              placeholder={t(place.placeholder)}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => form.set('scopeValue', event.target.value as V['scopeValue'])}
            />
          )}
        </Field>
      )}
    </>
  );
}
