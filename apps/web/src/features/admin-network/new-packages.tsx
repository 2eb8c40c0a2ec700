'use client';
import type { OrgSettings } from '@slipway/contracts/organizations';
import { Field, Input, Textarea } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { OrgSettingsForm } from '../form/org-settings-form.tsx';

const valuesOf = ({ packageMinAgeDays, packageHosts }: OrgSettings) => ({
  packageMinAgeDays: packageMinAgeDays?.toString() ?? '',
  packageHosts: packageHosts.join('\n'),
});

/** How old files of package hosts have to be. */
export function NewPackages() {
  const t = useTranslations();
  return (
    <OrgSettingsForm
      title={t('adminNetwork.newPackages')}
      description={t('adminNetwork.newPackagesDescription')}
      saved={t('adminNetwork.newPackagesSaved')}
      valuesOf={valuesOf}
      requestOf={({ packageMinAgeDays, packageHosts }) => ({
        packageMinAgeDays: packageMinAgeDays.trim() === '' ? null : Number(packageMinAgeDays),
        packageHosts: packageHosts.split(/[\s,]+/).filter((host) => host !== ''),
      })}
    >
      {(form, mayChange) => (
        <>
          <Field
            label={t('adminNetwork.minimumAge')}
            hint={t('adminNetwork.minimumAgeHint')}
            error={form.error('packageMinAgeDays')}
          >
            {(control) => (
              <Input
                {...control}
                inputMode="numeric"
                className="max-w-40"
                disabled={!mayChange}
                value={form.values.packageMinAgeDays}
                placeholder={t('adminNetwork.anyAge')}
                onChange={(event) => form.set('packageMinAgeDays', event.target.value)}
              />
            )}
          </Field>
          <Field
            label={t('adminNetwork.packageHosts')}
            hint={t('adminNetwork.packageHostsHint')}
            error={form.error('packageHosts')}
          >
            {(control) => (
              <Textarea
                {...control}
                rows={4}
                disabled={!mayChange}
                spellCheck={false}
                className="font-mono"
                value={form.values.packageHosts}
                onChange={(event) => form.set('packageHosts', event.target.value)}
              />
            )}
          </Field>
        </>
      )}
    </OrgSettingsForm>
  );
}
