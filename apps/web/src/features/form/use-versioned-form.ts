'use client';
import { useEffect, useEffectEvent, useState } from 'react';
import type { z } from 'zod';
import { type Form, useForm } from './use-form.ts';

export interface VersionedForm<Thing, Values> extends Form<Values> {
  /** Something is typed that the thing does not have. */
  readonly changed: boolean;
  /** Fills the form from this, whatever was typed. */
  readonly take: (thing: Thing) => void;
}

/**
 * A form that changes a thing which others change too. While nothing is typed it follows what is read again; once
 * something is, it stays as it is, and the server refuses what was meant for an older version (`settings.changed`).
 * @param options.latest as it was read last.
 * @param options.send gets the version that the form was filled from.
 */
export function useVersionedForm<
  Thing extends { readonly version: number },
  Values extends object,
  Schema extends z.ZodType,
>(options: {
  readonly latest: Thing;
  readonly valuesOf: (thing: Thing) => Values;
  readonly schema: Schema;
  readonly requestOf: (values: Values) => unknown;
  readonly send: (request: z.output<Schema>, version: number) => Promise<Thing>;
  readonly onDone: (saved: Thing) => void;
}): VersionedForm<Thing, Values> {
  const { latest, valuesOf } = options;
  const [basis, setBasis] = useState(latest);
  const form = useForm({
    initial: valuesOf(latest),
    schema: options.schema,
    requestOf: options.requestOf,
    send: (request) => options.send(request, basis.version),
    onDone: (saved) => {
      take(saved);
      options.onDone(saved);
    },
  });
  const take = (thing: Thing) => {
    setBasis(thing);
    form.reset(valuesOf(thing));
  };
  const changed = JSON.stringify(form.values) !== JSON.stringify(valuesOf(basis));
  const behind = latest.version > basis.version;
  const follow = useEffectEvent(() => take(latest));
  useEffect(() => {
    if (behind && !changed) follow();
  }, [behind, changed]);
  return { ...form, changed, take };
}
