'use client';
import { type AnswerEgressRequest, READ_METHODS } from '@slipway/contracts/sandboxes';
import { Checkbox } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type ComponentProps, useState } from 'react';
import { EgressChoices } from './egress-choices.tsx';

type Allow = Pick<AnswerEgressRequest, 'scope' | 'methods'>;

/** The answers, where a yes may be limited to reading. @param props.mayLimit whether it may. */
export function AllowChoices({
  mayLimit,
  onAllow,
  ...rest
}: Omit<ComponentProps<typeof EgressChoices>, 'onAllow' | 'mayOnce'> & {
  mayLimit: boolean;
  onAllow: (allow: Allow) => void;
}) {
  const t = useTranslations();
  const [chosen, setChosen] = useState(false);
  const readOnly = mayLimit && chosen;
  return (
    <>
      {mayLimit ? (
        <Checkbox
          label={t('egress.readOnly')}
          hint={readOnly ? t('egress.readOnlyMeans') : undefined}
          checked={readOnly}
          onChange={setChosen}
        />
      ) : null}
      <EgressChoices
        {...rest}
        mayOnce={!readOnly}
        onAllow={(scope) => onAllow({ scope, ...(readOnly ? { methods: [...READ_METHODS] } : {}) })}
      />
    </>
  );
}
