'use client';
import { useEffect } from 'react';

/**
 * Registers the worker that answers in place of the browser's own page when no server does. A browser that has none
 * goes on without.
 */
export function OfflineWorker() {
  useEffect(() => {
    if ('serviceWorker' in navigator) navigator.serviceWorker.register('/offline-worker.js').catch(() => {});
  }, []);
  return null;
}
