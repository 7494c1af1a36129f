; The Windows installer, for Inno Setup 6: iscc /DVersion=0.0.0 packaging\windows\sayso.iss
; Never run so far. It installs for the current user, without administrator's rights.
#ifndef Version
  #error Say which version: iscc /DVersion=...
#endif

[Setup]
AppId={{8B6C0F5E-6C1B-4E0B-9C58-6C6D3D0A7E51}
AppName=Sayso
AppVersion={#Version}
AppPublisher=The Sayso developers
DefaultDirName={autopf}\Sayso
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
LicenseFile=..\..\LICENSE
SetupIconFile=..\..\build\package\icons\sayso.ico
UninstallDisplayIcon={app}\sayso-app.exe
OutputDir=..\..\dist
OutputBaseFilename=Sayso-{#Version}-windows-setup
Compression=lzma2
SolidCompression=yes
WizardStyle=modern
; a running Sayso is asked to end, and started again afterwards
CloseApplications=yes

[Languages]
Name: "en"; MessagesFile: "compiler:Default.isl"
Name: "de"; MessagesFile: "compiler:Languages\German.isl"

[Tasks]
Name: "path"; Description: "Put the command sayso on the path"; Flags: unchecked
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked

[Files]
Source: "..\..\build\package\frozen\sayso\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{autoprograms}\Sayso"; Filename: "{app}\sayso-app.exe"
Name: "{autodesktop}\Sayso"; Filename: "{app}\sayso-app.exe"; Tasks: desktopicon

[Registry]
Root: HKCU; Subkey: "Environment"; ValueType: expandsz; ValueName: "Path"; ValueData: "{olddata};{app}"; \
  Tasks: path; Check: not IsOnPath
; Sayso's own setting "Start with the computer" makes this value; removing Sayso removes it
Root: HKCU; Subkey: "Software\Microsoft\Windows\CurrentVersion\Run"; ValueName: "Sayso"; ValueType: none; \
  Flags: uninsdeletevalue dontcreatekey

[Run]
Filename: "{app}\sayso-app.exe"; Description: "{cm:LaunchProgram,Sayso}"; Flags: nowait postinstall skipifsilent

[Code]
function IsOnPath(): Boolean;
var
  Path: String;
begin
  Result := RegQueryStringValue(HKCU, 'Environment', 'Path', Path)
    and (Pos(';' + Uppercase(ExpandConstant('{app}')) + ';', ';' + Uppercase(Path) + ';') > 0);
end;
