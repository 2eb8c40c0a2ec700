import { type DynamicModule, Module } from '@nestjs/common';
import { HttpModule } from './http/http.module.js';
import { MeModule } from './me/me.module.js';
import { type Platform, PlatformModule } from './platform/platform.module.js';
import { SignInModule } from './sign-in/sign-in.module.js';

/** A feature is a folder and a line here. */
const FEATURES = [SignInModule, MeModule];

@Module({})
export class AppModule {
  static register(platform: Platform): DynamicModule {
    return { module: AppModule, imports: [PlatformModule.register(platform), HttpModule, ...FEATURES] };
  }
}
