import { type ClassValue, clsx } from 'clsx';
import { extendTailwindMerge } from 'tailwind-merge';

const merge = extendTailwindMerge({ extend: { classGroups: { 'font-size': [{ text: ['2xs'] }] } } });

/** Joins class names; of two Tailwind classes that set the same property the last one stays. */
export function cn(...values: ClassValue[]): string {
  return merge(clsx(values));
}
