import type { Permission } from '@slipway/contracts/organizations';
import { Button, Checkbox } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { permissionWords } from '../admin/permission-words.ts';
import { byNoun } from './key-words.ts';

/** Which permissions a key has, out of those that the maker holds. */
export function ScopesField({
  offered,
  chosen,
  error,
  onChange,
}: {
  offered: readonly Permission[];
  chosen: readonly Permission[];
  error: string | null;
  onChange: (chosen: readonly Permission[]) => void;
}) {
  const t = useTranslations();
  const reading = offered.filter((permission) => permission.endsWith(':read'));
  return (
    <fieldset className="flex min-w-0 flex-col gap-2" aria-describedby={error ? 'scopes-error' : undefined}>
      <legend className="pb-1 text-xs font-medium text-ink-muted">{t('adminApiKeys.permissions')}</legend>
      <div className="flex flex-wrap gap-2">
        <Button size="small" onClick={() => onChange(reading)}>
          {t('adminApiKeys.readOnly')}
        </Button>
        <Button size="small" onClick={() => onChange(offered)}>
          {t('adminApiKeys.allYouHave')}
        </Button>
        <Button size="small" onClick={() => onChange([])}>
          {t('common.none')}
        </Button>
      </div>
      <div className="grid max-h-60 grid-cols-1 gap-x-4 gap-y-3 overflow-auto rounded-md border border-line p-3 sm:grid-cols-2">
        {byNoun(offered).map(([noun, permissions]) => (
          <div key={noun} className="min-w-0">
            {permissions.map((permission) => (
              <Checkbox
                key={permission}
                label={
                  <span className="block">
                    {permissionWords(t, permission)}
                    <code className="block font-mono text-xs text-ink-muted">{permission}</code>
                  </span>
                }
                checked={chosen.includes(permission)}
                aria-invalid={error ? true : undefined}
                onChange={(checked) =>
                  onChange(offered.filter((each) => (each === permission ? checked : chosen.includes(each))))
                }
              />
            ))}
          </div>
        ))}
      </div>
      {error ? (
        <p id="scopes-error" className="text-xs text-bad">
          {error}
        </p>
      ) : null}
    </fieldset>
  );
}
