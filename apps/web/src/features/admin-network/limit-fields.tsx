'use client';
import { Checkbox, Field, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import type { Option } from '../../messages/translate.ts';
import { MethodsField } from '../form/methods-field.tsx';
import type { LimitValues } from './rule-values.ts';

const METHODS: readonly Option[] = [
  { value: 'all', label: 'adminNetwork.allMethods' },
  { value: 'read', label: 'adminNetwork.readOnly' },
  { value: 'chosen', label: 'adminNetwork.chosenMethods' },
];

/** Which requests a rule is about. @param error what is wrong with a field, by its name. */
export function LimitFields({
  values,
  allows,
  error,
  onChange,
}: {
  values: LimitValues;
  allows: boolean;
  error: (name: string) => string | null;
  onChange: (change: Partial<LimitValues>) => void;
}) {
  const t = useTranslations();
  const { methods, paths, foreign, websocket } = values;
  const isLimited = methods !== 'all' || paths.trim() !== '';
  return (
    <>
      <MethodsField
        label={t('adminNetwork.methods')}
        hint={t('adminNetwork.methodsHint')}
        error={error('methods')}
        options={METHODS}
        values={values}
        onChange={onChange}
      />
      <Field label={t('adminNetwork.paths')} hint={t('adminNetwork.pathsHint')} error={error('paths')}>
        {(control) => (
          <Textarea
            {...control}
            dir="ltr"
            rows={2}
            value={paths}
            autoComplete="off"
            spellCheck={false}
            placeholder={t('adminNetwork.v1')}
            className="font-mono"
            onChange={(event) => onChange({ paths: event.target.value })}
          />
        )}
      </Field>
      {isLimited && allows ? (
        <>
          <Checkbox
            label={t('adminNetwork.foreignAllow')}
            hint={t('adminNetwork.foreignAllowMeans')}
            checked={foreign === 'allow'}
            onChange={(checked) => onChange({ foreign: checked ? 'allow' : 'refuse' })}
          />
          <Checkbox
            label={t('adminNetwork.websocket')}
            hint={t('adminNetwork.websocketMeans')}
            checked={websocket}
            onChange={(checked) => onChange({ websocket: checked })}
          />
        </>
      ) : null}
    </>
  );
}
