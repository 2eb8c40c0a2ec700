'use client';
import { Failed } from '../features/frame/failed.tsx';

/** The last resort: a panel that fails is caught nearer to where it is. */
export default function PageError({ error, reset }: { error: Error; reset: () => void }) {
  return (
    <main className="p-6">
      <Failed error={error} retry={reset} className="max-w-xl" />
    </main>
  );
}
