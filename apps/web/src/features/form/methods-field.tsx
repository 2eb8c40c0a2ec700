'use client';
import { PLACE_METHODS } from '@slipway/contracts/credentials';
import { Checkbox, Field, Select } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type Option, translated } from '../../messages/translate.ts';

/** Which methods requests may have. `chosen`: those of a list. */
export interface MethodValues {
  methods: 'all' | 'read' | 'chosen';
  chosen: readonly string[];
}

/** A choice among all methods, those that read, and a list with boxes. */
export function MethodsField({
  label,
  hint,
  error,
  options,
  values: { methods, chosen },
  onChange,
}: {
  label: string;
  hint?: string;
  error: string | null;
  options: readonly Option[];
  values: MethodValues;
  onChange: (change: Partial<MethodValues>) => void;
}) {
  const t = useTranslations();
  return (
    <>
      <Field label={label} {...(hint === undefined ? {} : { hint })} error={error}>
        {(control) => (
          <Select
            {...control}
            value={methods}
            options={translated(t, options)}
            onChange={(next) => onChange({ methods: next as MethodValues['methods'] })}
          />
        )}
      </Field>
      {methods === 'chosen' ? (
        <div className="flex flex-wrap gap-x-4 gap-y-1">
          {PLACE_METHODS.map((method) => (
            <Checkbox
              key={method}
              label={<code className="font-mono text-xs">{method}</code>}
              checked={chosen.includes(method)}
              onChange={(checked) =>
                onChange({ chosen: checked ? [...chosen, method] : chosen.filter((each) => each !== method) })
              }
            />
          ))}
        </div>
      ) : null}
    </>
  );
}
